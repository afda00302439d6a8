"""Three clients keep a book equal to MARKET.DEPTH: Python and Node over WebSocket, redis-py by SUBSCRIBE, through many changes,
reconnections and a killed server. SCARCE_BINARY=path SCARCE_NODE_TESTS=folder python -m unittest test_live"""

import json
import os
import random
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

import redis
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

CHANGES = int(os.environ.get("SCARCE_CHANGES", "100000"))
CHANNEL = "market.m.depth"
PATIENCE_S = 300


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Server:
    def __init__(self, data):
        self.resp, self.http = free_port(), free_port()
        self.command = [os.environ["SCARCE_BINARY"], "serve", "--data", data, "--partitions", "2"]
        self.command += ["--resp", f"127.0.0.1:{self.resp}", "--http", f"127.0.0.1:{self.http}"]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.process.stdout.readline()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def client(self):
        return redis.Redis(port=self.resp, decode_responses=True, socket_timeout=60)

    def depth(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/v1/markets/m/depth") as answer:
            shown = json.load(answer)
        return {side: shown[side] for side in ("bids", "asks")}


class Book:
    """What a subscriber has come to see, by the rules of the reference."""

    def __init__(self):
        self.levels, self.last, self.taken = {"bids": {}, "asks": {}}, None, 0

    def subscription(self):
        after = ";after={}.{}".format(*self.last) if self.last else ""
        return f"{CHANNEL}{after};conflate"

    def take(self, message):
        if message.get("channel") != CHANNEL or not message.get("data"):
            return
        if message["type"] == "snapshot":
            self.levels = {"bids": {}, "asks": {}}
            self.last = (message["epoch"], message["sequence"])
        else:
            if not message["first"] <= self.last[1] + 1 <= message["last"]:
                raise AssertionError(f"a gap behind {self.last}: {message}")
            self.last = (message["epoch"], message["last"])
        for side in ("bids", "asks"):
            for level in message["data"].get(side, []):
                if level["quantity"]:
                    self.levels[side][level["price"]] = level
                else:
                    self.levels[side].pop(level["price"], None)
        self.taken += 1

    def shown(self):
        levels = self.levels
        return {side: sorted(levels[side].values(), key=lambda level: level["price"] * sign)
                for side, sign in (("bids", -1), ("asks", 1))}


class Watcher(threading.Thread):
    """Keeps a book until it is ended, and goes on where it was after each disconnect."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.book, self.is_ended, self.problem = server, Book(), False, None
        self.reconnects = threading.Event()
        self.start()

    def run(self):
        while not self.is_ended:
            try:
                self.reconnects.clear()
                self.watch()
            except (OSError, redis.RedisError, WebSocketException, TimeoutError):
                time.sleep(0.05)
            except AssertionError as problem:
                self.problem = problem
                return

    def goes_on(self):
        return not self.is_ended and not self.reconnects.is_set()

    def shown(self):
        if self.problem:
            raise self.problem
        return self.book.shown()


class OverWebSocket(Watcher):
    def watch(self):
        with connect(f"ws://127.0.0.1:{self.server.http}/ws") as live:
            live.send(json.dumps({"method": "SUBSCRIBE", "params": [self.book.subscription()], "id": 1}))
            while self.goes_on():
                try:
                    self.book.take(json.loads(live.recv(timeout=0.2)))
                except TimeoutError:
                    pass


class OverRedis(Watcher):
    def watch(self):
        with self.server.client() as client, client.pubsub() as pubsub:
            pubsub.subscribe(self.book.subscription())
            while self.goes_on():
                message = pubsub.get_message(timeout=0.2)
                if message and message["type"] == "message":
                    self.book.take(json.loads(message["data"]))


class OverNode:
    def __init__(self, server):
        script = os.path.join(os.environ["SCARCE_NODE_TESTS"], "watch_book.cjs")
        command = ["node", script, f"ws://127.0.0.1:{server.http}/ws", CHANNEL]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def shown(self):
        self.say("show")
        shown = json.loads(self.process.stdout.readline())
        self.counts = shown.pop("counts")
        return shown

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def change(server, numbers, first, count):
    """Orders that rest, trade and are cancelled around a price that wanders."""
    sent = 0
    with server.client() as client:
        while sent < count:
            pipeline = client.pipeline(transaction=False)
            for at in range(first + sent, first + sent + min(500, count - sent)):
                if at % 3 == 2:
                    pipeline.execute_command("ORDER.CANCEL", "m", f"o{at - 2}", "anna")
                    continue
                side = numbers.choice(["BUY", "SELL"])
                price = 1000 + numbers.randrange(-12, 12) + at // 5000
                words = [side, "LIMIT", price, numbers.randrange(1, 20)]
                pipeline.execute_command("ORDER.PLACE", "m", f"o{at}", "anna", *words)
            sent += min(500, count - sent)
            pipeline.execute()


class Live(unittest.TestCase):
    def assert_all_equal(self, server, watchers):
        wanted, until = server.depth(), time.monotonic() + PATIENCE_S
        for watcher in watchers:
            while watcher.shown() != wanted:
                self.assertLess(time.monotonic(), until, f"{type(watcher).__name__}: {watcher.shown()} is not {wanted}")
                time.sleep(0.02)

    def test_books_stay_equal_through_changes_reconnections_and_a_kill(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        server = Server(folder.name)
        self.addCleanup(server.kill)
        with server.client() as client:
            client.execute_command("MARKET.CREATE", "m")
        node = OverNode(server)
        self.addCleanup(node.end)
        watchers = [OverWebSocket(server), OverRedis(server), node]
        numbers, part = random.Random(7), CHANGES // 10
        for round in range(10):
            change(server, numbers, round * part, part)
            if round % 3 == 0:
                self.assert_all_equal(server, watchers)
                for watcher in watchers[:2]:
                    watcher.reconnects.set()
                node.say("reconnect")
            if round == 5:
                server.kill()
                server.start()
        self.assert_all_equal(server, watchers)
        for watcher in watchers[:2]:
            watcher.is_ended = True
            watcher.join()
            print(type(watcher).__name__, "took", watcher.book.taken, "messages")
        print("Node", node.counts)
        self.assertGreaterEqual(node.counts["connections"], 5)
        self.assertGreater(node.counts["deltas"], 100)


if __name__ == "__main__":
    unittest.main()
