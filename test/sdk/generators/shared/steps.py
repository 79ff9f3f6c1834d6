"""Runs the steps of a scenario program."""

import json
import os
import traceback


def env(name):
    return os.environ["CROSSDOCK_" + name]


def run_steps(steps):
    """Runs the steps in order and prints one line of JSON per step. A failed step does not end the program."""
    for number, step in enumerate(steps, start=1):
        try:
            report = {"step": number, "ok": True, **step()}
        except Exception:
            report = {"step": number, "ok": False, "error": traceback.format_exc()[-1500:]}
        print(json.dumps(report, default=str, separators=(",", ":")), flush=True)
