"""Announces one parcel: python submit_prealert.py 1Z999AA10123456784"""

import os
import sys

from crossdock import ApiError, DuplicateError, KeyClient, PrealertSubmission

prealert = PrealertSubmission(
    user_code="IEX-1001",
    tracking_number=sys.argv[1],
    vendor="Amazon",
    reference="ORDER-4711",
)
with KeyClient(os.environ["CROSSDOCK_URL"], os.environ["CROSSDOCK_API_KEY"]) as crossdock:
    try:
        submission = crossdock.submit(prealert)
        print("Announced:", submission.prealert_id)
        for warning in submission.warnings:
            print(f"Check it: {warning.message} ({warning.code})")
    except DuplicateError as duplicate:
        if duplicate.existing is not None and duplicate.existing.differs:
            sys.exit(f"Refused: the number is announced for another customer, {duplicate.existing.user_code}.")
        print("Announced before.")
    except ApiError as error:
        sys.exit(f"Refused: {error.message} ({error.code}, request {error.request_id})")
