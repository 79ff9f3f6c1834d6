"""Writes src/crossdock/_core/resources.py and async_resources.py: `client.packages.list(...)` and all other operations.

Each operation is a method with keyword arguments. The names come from build/operations.json, the types from the
functions and the classes that openapi-python-client has generated.
"""

from __future__ import annotations

import ast
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
CORE = ROOT / "src" / "crossdock" / "_core"

ENVELOPE = {"status", "message", "timestamp", "request_id", "data", "additional_properties"}
"""The fields of every response. One that has only these becomes its data."""


@dataclass(frozen=True)
class Argument:
    name: str
    type: str
    default: str | None


def module(path: str) -> ast.Module:
    return ast.parse((CORE / path).read_text(encoding="utf-8"))


def exported(package: str) -> set[str]:
    """The names that a package of the generator exports."""
    found = [node for node in ast.walk(module(f"{package}/__init__.py")) if isinstance(node, ast.ImportFrom)]
    return {alias.name for node in found for alias in node.names}


MODELS = exported("models")


class Qualify(ast.NodeTransformer):
    """Names of classes as those of the package `models`. Inside a class, `list` is the method."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in MODELS:
            return ast.Attribute(ast.Name("models"), node.id)
        return ast.Name("List") if node.id == "list" else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        # A type in quotes.
        return self.visit(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else node


def text_of(node: ast.expr) -> str:
    return ast.unparse(Qualify().visit(ast.parse(ast.unparse(node), mode="eval").body))


def names_in(node: ast.expr) -> list[str]:
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]


CLASSES: dict[str, ast.ClassDef] = {
    node.name: node
    for path in (CORE / "models").glob("*.py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.ClassDef)
}


def fields_of(name: str) -> list[Argument]:
    """The fields of a class, as arguments. Those without a default come first."""
    found = [
        # The service has the defaults.
        Argument(node.target.id, text_of(node.annotation), "UNSET" if node.value else None)
        for node in CLASSES[name].body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    return [field for field in found if field.name != "additional_properties"]


class Operation:
    """A function of the package `api`, and how a client sends it."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.function: str = row["function"]
        self.method: str = row["method"]
        self.is_list: bool = row["isList"]
        self.is_file: bool = row["isFile"]
        self.takes_key: bool = row["takesKey"]
        [path] = (CORE / "api").glob(f"*/{self.function}.py")
        node = next(
            each
            for each in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(each, ast.FunctionDef) and each.name == self.function
        )
        self.doc = (ast.get_docstring(node, clean=False) or "").strip().split("\n")[0]
        self.body: ast.expr | None = None
        self.given = [*zip(node.args.args, [None] * len(node.args.args), strict=True)]
        self.given += [*zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
        self.parameters = []
        for argument, default in self.given:
            assert argument.annotation is not None
            if argument.arg == "body":
                self.body = argument.annotation
            elif argument.arg != "idempotency_key":
                value = "UNSET" if default else None
                self.parameters.append(Argument(argument.arg, text_of(argument.annotation), value))
        assert isinstance(node.returns, ast.Subscript)
        self.result = node.returns.slice

    def body_class(self) -> str | None:
        """The class whose fields become arguments. None for a body that is one of several actions, or a form."""
        if self.body is None:
            return None
        classes = [name for name in names_in(self.body) if name in CLASSES]
        return classes[0] if len(classes) == 1 and "Mapping" in names_in(self.body) else None

    def arguments(self) -> list[Argument]:
        fields = fields_of(name) if (name := self.body_class()) else []
        taken = {field.name for field in fields}
        every = [*fields, *(each for each in self.parameters if each.name not in taken)]
        if self.body is not None and not self.body_class():
            every.insert(0, Argument("body", text_of(self.body), None))
        return sorted(every, key=lambda each: each.default is not None)

    def call(self) -> str:
        """The expression that makes the call of the package `api`."""
        return f"api.{self.function}({self.given_as()})"

    def given_as(self) -> str:
        name = self.body_class()
        parts = [f"{each.name}={each.name}" for each in self.parameters]
        if name:
            fields = ", ".join(f"{each.name}={each.name}" for each in fields_of(name))
            parts.append(f"body=models.{name}({fields})")
        elif self.body is not None:
            parts.append("body=body")
        return ", ".join(parts)

    def data_type(self) -> str | None:
        """The type of `data`, if the response has nothing else."""
        if not isinstance(self.result, ast.Name) or self.result.id not in CLASSES:
            return None
        fields = {field.name: field.type for field in fields_of(self.result.id)}
        return fields.get("data") if set(fields) <= ENVELOPE else None

    def record_type(self) -> str:
        """The type of one record of a list."""
        assert isinstance(self.result, ast.Name)
        fields = {field.name: field.type for field in fields_of(self.result.id)}
        return fields["data"].removeprefix("List[").removesuffix("]")


def signature(name: str, arguments: list[Argument], returns: str, start: str, first: str = "") -> list[str]:
    lines = [f"    {start} {name}(", "        self,"]
    if first:
        lines.append(f"        {first},")
    if arguments:
        lines.append("        *,")
    for each in arguments:
        lines.append(f"        {each.name}: {each.type}{f' = {each.default}' if each.default else ''},")
    return [*lines, f"    ) -> {returns}:"]


def methods_of(operation: Operation, is_async: bool, send: str) -> list[str]:
    start, wait = ("async def", "await ") if is_async else ("def", "")
    doc = f'        """{operation.doc}."""'
    arguments = operation.arguments()
    if operation.is_file:
        head = signature(operation.method, arguments, "str | None", start, "target: Target")
        saves = f'        """{operation.doc}. Writes the file to a path or an open file."""'
        return [*head, saves, f"        return {wait}self._client.download({operation.call()}, target)", ""]
    if operation.is_list:
        iterator = "AsyncIterator" if is_async else "Iterator"
        page = "page" if operation.method == "list" else f"{operation.method}_page"
        every = f'        """{operation.doc}. Returns the records of all pages."""'
        one = f'        """{operation.doc}. Returns one page."""'
        each = f"        return self._client.each(api.{operation.function}, {operation.given_as()})"
        return [
            *signature(operation.method, arguments, f"{iterator}[{operation.record_type()}]", "def"),
            *(every, each, ""),
            *signature(page, arguments, text_of(operation.result), start),
            *(one, f"        return {wait}self._client.send({operation.call()})", ""),
        ]
    data = operation.data_type()
    key = ""
    if operation.takes_key:
        arguments = [*arguments, Argument("idempotency_key", "str | None", "None")]
        key = ", idempotency_key=idempotency_key"
    sent = f"{wait}self._client.{send}({operation.call()}{key})"
    returned = f"({sent}).data" if data else sent
    return [
        *signature(operation.method, arguments, data or text_of(operation.result), start),
        *(doc, f"        return {returned}", ""),
    ]


def class_name(group: str) -> str:
    return "".join(part.capitalize() for part in group.split("_"))


def resource(group: str, operations: list[Operation], is_async: bool, prefix: str, client: str, send: str) -> list[str]:
    lines = [
        f"class {prefix}{class_name(group)}:",
        f'    """The operations of `client.{group}`."""',
        "",
        f"    def __init__(self, client: {client}) -> None:",
        "        self._client = client",
    ]
    if group == "prealerts" and send != "send":
        many = ("submit_many", "submit_each", "submit_all_or_none")
        lines += [f"        self.{name} = client.{name}" for name in many]
    lines.append("")
    for operation in operations:
        lines += methods_of(operation, is_async, send)
    return [*lines, ""]


HEAD = '''"""Generated from the contract by resources.py. Do not edit."""

from __future__ import annotations

import datetime
import os
from collections.abc import {iterator}, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, List, Union
from uuid import UUID

from . import api, models
from .types import UNSET, File, Unset

if TYPE_CHECKING:
    from ..{module} import {prefix}Client, {prefix}KeyClient

Target = Union[str, "os.PathLike[str]", BinaryIO]

'''


def write(rows: list[dict[str, Any]], is_async: bool) -> None:
    prefix, path = ("Async", "async_resources.py") if is_async else ("", "resources.py")
    groups: dict[str, list[Operation]] = defaultdict(list)
    for row in rows:
        groups[row["group"]].append(Operation(row))
    key = [Operation(row) for row in rows if row["isForKey"]]
    iterator, source = ("AsyncIterator", "_async") if is_async else ("Iterator", "_sync")
    lines = []
    for group, operations in groups.items():
        own = [each for each in operations if each.function not in {other.function for other in key}]
        lines += resource(group, own, is_async, prefix, f"{prefix}Client", "send")
    lines += resource("prealerts", key, is_async, f"{prefix}Key", f"{prefix}KeyClient", "_call")
    lines += [f"class {prefix}Resources:", '    """What a client of a user has."""', ""]
    lines += [f"    def _add_resources(self, client: {prefix}Client) -> None:"]
    lines += [f"        self.{group} = {prefix}{class_name(group)}(client)" for group in groups]
    head = HEAD.format(iterator=iterator, module=source, prefix=prefix)
    (CORE / path).write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


table = json.loads((ROOT / "build" / "operations.json").read_text(encoding="utf-8"))
write(table, is_async=True)
write(table, is_async=False)
