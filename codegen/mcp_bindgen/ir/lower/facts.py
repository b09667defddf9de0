"""Facts of a schema as plain JSON: its declarations, their resolved types, its methods.

Other readers of the same files can export this format (`mcp-schema-oracle/1`) too, so two readings
can be compared. Sentences appear only as hashes; `structure` leaves the hashes out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from mcp_bindgen.ir.lower.pairs import Pair, pairs
from mcp_bindgen.ir.resolve.resolver import Resolver
from mcp_bindgen.source import syntax
from mcp_bindgen.source.docs import normal

__all__ = ["FORMAT", "digest", "facts", "structure", "tag_value"]

FORMAT: Final = "mcp-schema-oracle/1"

FLAG_TAGS: Final = frozenset({"deprecated", "internal", "nullable", "uniqueItems"})
NUMBER_TAGS: Final = frozenset(
    [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "minLength",
        "maxLength",
        "minProperties",
        "maxProperties",
    ]
)
TEXT_TAGS: Final = frozenset(
    [
        *("category", "format", "pattern", "default", "TJS-type"),
        *("asType", "type", "items", "additionalProperties"),
    ]
)

_Json = dict[str, Any]
_Coat: TypeAlias = Literal["declared", "tagged", "resolved"]
"""A type as it is written, with its comments or with the tags in them alone, or worked out."""


def facts(resolver: Resolver, methods: Sequence[Pair] | None = None, *, docs: bool = True) -> _Json:
    """The facts of the whole module; without `docs`, comments are reduced to machine-readable tags.

    `methods` are the module's methods, if already known.
    """
    own = [d for name, d in resolver.declared.items() if name not in resolver.foreign]
    imports = [_import(each) for each in resolver.imports]
    methods = pairs(resolver) if methods is None else methods
    return {
        "format": FORMAT,
        **({"imports": imports} if imports else {}),
        "declarations": [_declaration(resolver, d, docs) for d in own],
        "methods": [_at_home(resolver, _method(pair)) for pair in methods],
    }


def _import(each: syntax.Import) -> _Json:
    names = [{"name": n} | ({"as": local} if local != n else {}) for n, local in each.names]
    return {"module": each.module, "names": names}


def _at_home(resolver: Resolver, value: Any) -> Any:
    """The facts, where each imported name is replaced by its name in the file which declares it."""
    if not resolver.foreign:
        return value
    if value.__class__ is list:
        return [_at_home(resolver, item) for item in value]
    if value.__class__ is not dict:
        return value
    inner: _Json = {key: _at_home(resolver, item) for key, item in value.items()}
    if inner.get("kind") == "ref" and inner["name"] in resolver.foreign:
        inner |= {"name": resolver.foreign[inner["name"]], "module": "core"}
    return inner


def digest(resolver: Resolver, methods: Sequence[Pair] | None = None) -> str:
    """The structure digest: SHA-256 of the facts without prose, as canonical JSON."""
    text = msgspec.json.encode(facts(resolver, methods, docs=False), order="sorted")
    return hashlib.sha256(text).hexdigest()


def tag_value(tag: syntax.Tag) -> Any:
    """The machine-readable value of a tag: True, a number or text; None for prose."""
    if tag.name in FLAG_TAGS:
        return True
    if tag.name in NUMBER_TAGS:
        return _number(tag.rest)
    return tag.rest if tag.name in TEXT_TAGS and tag.rest else None


def _number(text: str) -> int | float | None:
    try:
        value = float(text.split()[0])
    except (ValueError, IndexError):
        return None
    if value != value or value in (float("inf"), float("-inf")):
        return None
    return int(value) if value.is_integer() else value


def _doc(doc: syntax.Doc | None, docs: bool) -> _Json:
    if doc is None:
        return {}
    tags = [
        {"name": tag.name} | ({} if (value := tag_value(tag)) is None else {"value": value})
        for tag in doc.tags
        if docs or tag_value(tag) is not None
    ]
    body: _Json = {"tags": tags} if tags else {}
    if docs:
        body["sha256"] = _sha256(doc.text)
        if doc.description:
            body["description_sha256"] = _sha256(doc.description)
    return {"doc": body} if body else {}


def _sha256(text: str) -> str:
    return hashlib.sha256(normal(text).encode()).hexdigest()


def _declaration(resolver: Resolver, declaration: syntax.Declaration, docs: bool) -> _Json:
    head: _Json = {
        "name": declaration.name,
        "exported": declaration.exported,
        **_doc(declaration.doc, docs),
    }
    if docs:
        head["line"] = resolver.source.line(declaration.at)
    match declaration:
        case syntax.Const():
            annotation = {"type": _type(declaration.type)} if declaration.type else {}
            value = {"value": _value(declaration.value)} if declaration.value else {}
            return {"kind": "const", **head, **value, **annotation}
        case syntax.Enum():
            return {"kind": "other", **head, "members": [list(m) for m in declaration.members]}
        case syntax.Alias():
            # Without prose the flags of an alias's members are left out, as digests are pinned so.
            written: _Coat = "declared" if docs else "tagged"
            body: _Json = {"kind": "alias", **head, "type": _type(declaration.type, written, docs)}
        case syntax.Interface():
            bases = (
                {"extends": [_type(base) for base in declaration.extends]}
                if declaration.extends
                else {}
            )
            once = {member.name: member for member in reversed(declaration.members)}
            members = sorted(once.values(), key=lambda member: member.at)
            own = syntax.Inline(tuple(members), declaration.index, declaration.at)
            body = {"kind": "interface", **head, **bases, **_body(own, "declared", docs)}
    if declaration.params:
        return body | {"typeParams": [_param(param) for param in declaration.params]}
    return body | {"resolved": _at_home(resolver, _resolve(resolver, declaration))}


def _value(type: syntax.Type) -> Any:
    """The value of a constant: its literal, or the type of its array or object."""
    return type.value if isinstance(type, syntax.Literal) else _type(type, "declared")


def _param(param: syntax.TypeParam) -> _Json:
    limits = {"constraint": param.constraint, "default": param.default}
    return {"name": param.name} | {k: _type(t) for k, t in limits.items() if t is not None}


def _resolve(resolver: Resolver, declaration: syntax.Interface | syntax.Alias) -> _Json:
    ref = syntax.Ref(declaration.name, (), declaration.at)
    shape = resolver.object_shape(ref)
    body = {} if shape is None else _body(shape, "resolved", False)
    if isinstance(declaration, syntax.Alias):
        return {"type": _type(resolver.open_name(ref)), **body}
    return body


def _body(shape: syntax.Inline, coat: _Coat, docs: bool) -> _Json:
    body: _Json = {"members": [_member(m, coat, docs) for m in shape.members]}
    if shape.index:
        body["index"] = [_index(i, coat, docs) for i in shape.index]
    return body


def _member(member: syntax.Member, coat: _Coat, docs: bool) -> _Json:
    body: _Json = {
        "name": member.name,
        "optional": member.optional,
        "type": _type(member.type, coat, docs),
    }
    if member.readonly:
        body["readonly"] = True
    if coat == "declared" and member.quoted:
        body["quoted"] = True
    if coat != "resolved":
        body |= _doc(member.doc, docs)
    return body


def _index(index: syntax.Index, coat: _Coat, docs: bool) -> _Json:
    body: _Json = {"key": _type(index.key), "type": _type(index.type, coat, docs)}
    if index.readonly:
        body["readonly"] = True
    if coat == "declared":
        body["name"] = index.param
    if coat != "resolved":
        body |= _doc(index.doc, docs)
    return body


def _types(types: Sequence[syntax.Type], coat: _Coat, docs: bool) -> list[_Json]:
    return [_type(t, coat, docs) for t in types]


def _type(type: syntax.Type, coat: _Coat = "resolved", docs: bool = False) -> _Json:
    match type:
        case syntax.Keyword():
            return {"kind": type.name}
        case syntax.Literal():
            return {"kind": "literal", "value": type.value}
        case syntax.Ref():
            args = {"args": _types(type.args, coat, docs)} if type.args else {}
            module = {"module": type.module} if type.module else {}
            return {"kind": "ref", "name": type.name, **args, **module}
        case syntax.Array():
            flag = {"readonly": True} if type.readonly else {}
            return {"kind": "array", "of": _type(type.of, coat, docs), **flag}
        case syntax.Tuple():
            return {"kind": "tuple", "of": [_element(e, coat, docs) for e in type.of]}
        case syntax.Union():
            return {"kind": "union", "of": _types(type.of, coat, docs)}
        case syntax.Intersection():
            return {"kind": "intersection", "of": _types(type.of, coat, docs)}
        case syntax.Inline():
            return {"kind": "inline", **_body(type, coat, docs)}
        case syntax.TypeOf():
            return {"kind": "typeof", "name": type.name}
        case syntax.KeyOf():
            return {"kind": "operator", "operator": "keyof", "of": _type(type.of, coat, docs)}
        case syntax.Indexed():
            return {
                "kind": "indexed",
                "object": _type(type.object, coat, docs),
                "index": _type(type.index, coat, docs),
            }
        case syntax.Template() | syntax.Mapped():
            return _write(type)


def _write(type: syntax.Template | syntax.Mapped) -> _Json:
    kind = "template" if isinstance(type, syntax.Template) else "other"
    return {"kind": kind, "text": type.text}


def _element(element: syntax.Element, coat: _Coat, docs: bool) -> _Json:
    of = _type(element.of, coat, docs)
    if element.optional or element.rest:
        return {"kind": "rest" if element.rest else "optional", "of": of}
    return of


def _method(pair: Pair) -> _Json:
    params = {"optional": pair.params_optional, "type": _type(pair.params)} if pair.params else None
    body: _Json = {
        "type": pair.type,
        "method": pair.method,
        "kind": pair.kind,
        "direction": pair.direction,
        "params": params,
    }
    return body | ({"result": {"type": _type(pair.result)}} if pair.result else {})


def structure(resolver: Resolver) -> Mapping[str, Any]:
    """The facts behind the digest."""
    return facts(resolver, docs=False)
