"""Strategic merge patch: objects merge by member, lists by patch strategy, and directives override both.

The stored object is never changed: what differs is copied on the way down. The patch is used up: directives that were
obeyed are taken out of it, and what is left of it is what the server shows when the result does not decode.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from podstrat.strategy import errors
from podstrat.strategy.patch import goprint, order, refusals
from podstrat.strategy.patch.lookup import Schema

if TYPE_CHECKING:
    from podstrat.strategy.api.types import Types

PATCH = order.DIRECTIVE
RETAIN_KEYS = "$retainKeys"
ORDER = "$setElementOrder"
DELETIONS = "$deleteFromPrimitiveList"

BAD_RETAIN_KEYS = "invalid patch format of retainKeys"
BAD_ORDER = "invalid patch format of setElementOrder list"
BAD_DELETIONS = "invalid patch format of primitive list"
NO_MERGE = "merging lists cannot yet be specified in the patch"
NO_ELEMENTS = "no elements in any of the given slices"

Object = dict[str, Any]


def apply(stored: Object, patch: Object, types: Types, type_name: str = "Pod") -> Object:
    """The stored object with the patch merged in. The patch must be private to the call.

    Upstream: strategicpatch.StrategicMergeMapPatch
    """
    return _merged(stored, patch, Schema(types, type_name, own=frozenset(map(id, _objects(patch)))))


def _objects(value: Any) -> Iterator[Object]:
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from _objects(member)
    elif isinstance(value, list):
        for item in value:
            yield from _objects(item)


def _merged(original: Object, patch: Object, schema: Schema) -> Object:
    """Members merge one by one; null removes one, and one that the original lacks is taken over.

    Upstream: mergeMap
    """
    if PATCH in patch:
        return _directed(patch)
    # An item that the patch itself has brought, under a key that it repeats, is not copied.
    result = original if id(original) in schema.own else dict(original)
    if RETAIN_KEYS in patch:
        _retain(result, patch, patch.pop(RETAIN_KEYS))
    for name in [name for name in patch if name.startswith(ORDER)]:
        _reorder(result, patch, name, schema)
    for name, value in patch.items():
        deletions = name.startswith(DELETIONS)
        if deletions:
            name = _suffix(name, DELETIONS, BAD_DELETIONS) or name
        if value is None:
            result.pop(name, None)
        elif type(result.get(name)) is not type(value):
            if not deletions:
                _take(result, name, value)
        elif isinstance(value, dict):
            result[name] = _merged_member(result[name], value, name, schema)
        elif isinstance(value, list):
            result[name] = _merged_list(result[name], value, name, schema, deletions)
        else:
            result[name] = value
    return result


def _directed(patch: Object) -> Object:
    """``$patch: replace`` takes the patch as it is, ``$patch: delete`` leaves nothing.

    Upstream: handleDirectiveInMergeMap
    """
    directive = patch[PATCH]
    if directive == "replace":
        del patch[PATCH]
        return patch
    if directive == order.DELETE:
        return {}
    raise _bad_directive(directive, patch)


def _bad_directive(directive: Any, patch: Object) -> errors.ServerError:
    return errors.ServerError(f"unknown patch type: {goprint.text(directive)} in map: {goprint.plain(patch)}")


def _retain(result: Object, patch: Object, names: Any) -> None:
    """``$retainKeys`` drops every other member, and has to name each one that the patch sets.

    Upstream: applyRetainKeysDirective
    """
    if not isinstance(names, list):
        raise errors.BadRequest(BAD_RETAIN_KEYS)
    if any(isinstance(name, (dict, list)) for name in names):
        raise refusals.crashed()
    names_kept = {name for name in names if isinstance(name, str)}
    for name, value in patch.items():
        if value is not None and name not in names_kept and not name.startswith((DELETIONS, ORDER)):
            raise errors.BadRequest(BAD_RETAIN_KEYS)
    for name in [name for name in result if name not in names_kept]:
        del result[name]


def _suffix(name: str, prefix: str, otherwise: str) -> str:
    """The member that ``$setElementOrder/containers`` and its like speak of.

    Upstream: extractKey
    """
    head, slash, member = name.partition("/")
    if not slash or head != prefix:
        raise errors.BadRequest(otherwise)
    return member


def _take(result: Object, name: str, value: Any) -> None:
    """A member that has no like in the original: the patch's value, without nulls and without objects that hold a directive."""
    _discard_nulls(value)
    if isinstance(value, dict) and PATCH in value:
        result.pop(name, None)
    else:
        result[name] = _without_directives(value)


def _discard_nulls(value: Any) -> None:
    """Takes out the members that are null, at any depth; a null in a list stays.

    Upstream: discardNullValuesFromPatch
    """
    if isinstance(value, dict):
        for name in [name for name, member in value.items() if member is None]:
            del value[name]
        for member in value.values():
            _discard_nulls(member)
    elif isinstance(value, list):
        for item in value:
            _discard_nulls(item)


def _without_directives(value: Any) -> Any:
    """The value without objects that hold a ``$patch``, at any depth.

    Upstream: removeDirectives
    """
    if isinstance(value, dict):
        for name, member in list(value.items()):
            if isinstance(member, dict) and PATCH in member:
                del value[name]
            else:
                value[name] = _without_directives(member)
        return value
    if isinstance(value, list):
        return [_without_directives(item) for item in value if not (isinstance(item, dict) and PATCH in item)]
    return value


def _merged_member(original: Object, patch: Object, name: str, schema: Schema) -> Object:
    """An object that both sides have, by the strategy of its field.

    Upstream: mergeMapHandler
    """
    field = schema.field(name)
    if schema.strategy(field) == "replace":
        return patch
    return _merged(original, patch, schema.inside(field))


def _merged_list(original: list[Any], patch: list[Any], name: str, schema: Schema, deletions: bool) -> list[Any]:
    """A list that both sides have, by the strategy of its field; without one the patch replaces it.

    Upstream: mergeSliceHandler
    """
    field, items = schema.items(name)
    if schema.strategy(field) == "merge" or deletions:
        return _merged_items(original, patch, items, field.merge_key, deletions)
    return patch


def _merged_items(original: list[Any], patch: list[Any], schema: Schema, key: str, deletions: bool) -> list[Any]:
    """Items of a list merged by their key, scalars as a set; or scalars taken out.

    Upstream: mergeSlice
    """
    if not original and not patch:
        return original
    maps = _element_type(original, patch) is dict
    if maps:
        if not key:
            raise errors.ServerError(f"cannot merge lists without merge key for {schema.kind}")
        original, patch = _directives_obeyed(original, patch, key)
        merged = _items_merged(original, patch, schema, key)
    elif deletions:
        unwanted = order.Ranks(patch)
        return [item for item in original if unwanted.of(item) < 0]
    else:
        merged = _deduplicated([*original, *patch])
    return order.arrange(merged, patch, original, key, maps)


def _element_type(*lists: list[Any]) -> type:
    """The one type of all the items.

    Upstream: sliceElementType
    """
    result: type | None = None
    for items in lists:
        for item in items:
            if result is None:
                if item is None:
                    raise refusals.crashed()
                if isinstance(item, list):
                    raise refusals.rejected()
                result = type(item)
            elif type(item) is not result:
                raise errors.ServerError(f"list element types are not identical: {goprint.plain(list(lists))}")
    if result is None:
        raise errors.ServerError(NO_ELEMENTS)
    return result


def _directives_obeyed(original: list[Any], patch: list[Any], key: str) -> tuple[list[Any], list[Any]]:
    """The original without the items that the patch deletes, and the patch without its directives; or the patch alone.

    Upstream: mergeSliceWithSpecialElements
    """
    rest: list[Any] = []
    unwanted = order.Ranks()
    replaced = False
    for item in patch:
        if PATCH not in item:
            rest.append(item)
            continue
        directive = item[PATCH]
        if directive == order.DELETE:
            if key not in item:
                raise order.no_merge_key(item, key)
            unwanted.add(item[key], 0)
            if isinstance(item[key], order.UNCOMPARABLE):
                order.Ranks(other[key] for other in original if key in other).of(item[key])
        elif directive == "replace":
            replaced = True
        elif directive == "merge":
            raise errors.ServerError(NO_MERGE)
        else:
            raise _bad_directive(directive, item)
    if replaced:
        return rest, []
    return [other for other in original if key not in other or unwanted.of(other[key]) < 0], rest


def _items_merged(original: list[Any], patch: list[Any], schema: Schema, key: str) -> list[Any]:
    """Each item of the patch merged into the first item with its key, or added at the end.

    Upstream: mergeSliceWithoutSpecialElements
    """
    merged = list(original)
    ranks = order.Ranks()
    for position, item in enumerate(merged):
        if key in item:
            ranks.add(item[key], position)
    for item in patch:
        if key not in item:
            raise order.no_merge_key(item, key)
        position = ranks.of(item[key])
        if position >= 0:
            merged[position] = _merged(merged[position], item, schema)
        else:
            ranks.add(item[key], len(merged))
            merged.append(item)
    return merged


def _deduplicated(items: list[Any]) -> list[Any]:
    """A repeated scalar gives its place to the last one; the sorting afterwards mends that.

    Upstream: deduplicateScalars
    """
    places: dict[Any, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(item, []).append(place)
    at = 0
    while at < len(items):
        same = places[items[at]]
        # A heap; a place in it may have got another item since, or be gone.
        while same:
            place = heappop(same)
            if at < place < len(items) and items[place] == items[at]:
                last = items.pop()
                if place < len(items):
                    items[place] = last
                    heappush(places[last], place)
        at += 1
    return items


def _reorder(result: Object, patch: Object, name: str, schema: Schema) -> None:
    """``$setElementOrder/x`` merges the list x of the patch and gives the items the order that it lists.

    Upstream: mergePatchIntoOriginal
    """
    ordered = patch.pop(name)
    if not isinstance(ordered, list):
        raise order.bad_type(list, ordered)
    member = _suffix(name, ORDER, BAD_ORDER)
    original, added = result.get(member, []), patch.get(member, [])
    for items in (original, added):
        if not isinstance(items, list):
            raise order.bad_type(list, items)
    field, _ = schema.items(member)
    _check_order(added, ordered, field.merge_key)
    if member not in patch:
        if member not in result:
            return
        merged = original
    elif member not in result:
        merged = _without_directives(added)
    else:
        merged = _merged_list(original, added, member, schema, deletions=False)
    maps = _element_type(original, added) is dict
    result[member] = order.arrange(merged, ordered, original, field.merge_key, maps)
    patch.pop(member, None)


def _check_order(patch: list[Any], ordered: list[Any], key: str) -> None:
    """The items of the patch come in the order that ``$setElementOrder`` lists, and all of them are listed.

    Upstream: validatePatchWithSetOrderList
    """
    if not patch or not ordered:
        return
    rest = order.split_deleted(patch)[0] if key else patch
    at = place = 0
    while at < len(rest) and place < len(ordered):
        if isinstance(rest[at], dict) and PATCH in rest[at]:
            at += 1
            continue
        if _same_key(rest[at], ordered[place], key):
            at += 1
        place += 1
    if at < len(rest) and place >= len(ordered):
        raise errors.ServerError(
            f"The order in patch list:\n{goprint.plain(patch)}\n doesn't match {ORDER} list:\n{goprint.plain(ordered)}\n"
        )


def _same_key(left: Any, right: Any, key: str) -> bool:
    """Whether two items have the same merge key, or are the same scalar.

    Upstream: mergeKeyValueEqual
    """
    if key:
        for item in (left, right):
            if not isinstance(item, dict):
                raise order.bad_type(dict, item)
        for item in (left, right):
            if key not in item:
                raise order.no_merge_key(item, key)
        left, right = left[key], right[key]
    return order.Ranks([left]).of(right) >= 0
