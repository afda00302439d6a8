"""What schemathesis sends beside its own inventions: names of things that exist, so that requests get
further than "not found". And integers are written as integers: to a JSON schema 5.0 is one, here a
number has one spelling.
"""

import json
import os
import urllib.request

import schemathesis

SERVER = "http://" + os.environ["SCARCE_HTTP"]

# Each as the path names it.
KNOWN = {
    "account": "alice",
    "asset": "EUR",
    "hold": "h",
    "sku": "sku",
    "reservation": "r",
    "campaign": "campaign",
    "user": "u",
    "coupon": "coupon",
    "serial": "1",
    "market": "market",
    "order": "o",
    "operation": "op",
}


def line(command, **arguments):
    return {"command": command, "arguments": arguments}


def prepare():
    """Makes one of everything."""
    operations = [
        line("ACCOUNT.OPEN", account="alice", asset="EUR", overdraft=1_000),
        line("ACCOUNT.CREDIT", account="alice", amount=1_000_000) | {"id": "op"},
        line("ACCOUNT.HOLD", account="alice", hold="h", amount=10),
        line("STOCK.CREATE", sku="sku", quantity=1_000_000),
        line("STOCK.RESERVE", sku="sku", reservation="r", quantity=1, owner="u", ttl_ms=9_007_199_254_740_991),
        line("STOCK.TAKE", sku="sku", quantity=10, owner="u"),
        line("PACKET.CREATE", campaign="campaign", asset="EUR", amounts=[5] * 1_000),
        line("PACKET.CLAIM", campaign="campaign", user="u"),
        line("COUPON.CREATE", coupon="coupon", limits=[{"name": "all", "max": 1_000_000}]),
        line("COUPON.CLAIM", coupon="coupon", subject={"user": "u"}),
        line("MARKET.CREATE", market="market"),
        line("ORDER.PLACE", market="market", order="o", owner="u", side="SELL", type="LIMIT", price=9, quantity=9),
    ]
    request = urllib.request.Request(
        SERVER + "/v1/batch",
        json.dumps({"operations": operations}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as response:
        refused = [result for result in json.load(response)["results"] if result["status"] != 200]
    assert not refused, refused


prepare()


def spelled(value):
    """The same value, with integers spelled as integers."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: spelled(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [spelled(inner) for inner in value]
    return value


@schemathesis.hook
def map_body(context, body):
    return spelled(body)


@schemathesis.hook
def map_query(context, query):
    return spelled(query)


@schemathesis.hook
def before_call(context, case, kwargs):
    """The server under test has no replicas, and would be right to answer 503. Headers are not mapped in
    every phase, so this is done last."""
    if (case.headers or {}).get("Scarce-Durability") == "replicated":
        case.headers["Scarce-Durability"] = "synced"


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Half of the names are of things that exist: those whose first byte is even."""
    for name, value in (path_parameters or {}).items():
        if name in KNOWN and isinstance(value, str) and value and ord(value[0]) % 2 == 0:
            path_parameters[name] = KNOWN[name]
        elif name == "serial" and isinstance(value, int) and value % 2 == 0:
            path_parameters[name] = 1
    return path_parameters
