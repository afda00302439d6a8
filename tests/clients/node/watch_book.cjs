// Keeps a book through /ws: prints it as JSON for each line on standard input. Goes on where it was after each disconnect.
"use strict";

const readline = require("node:readline");
const WebSocket = require("ws");

const [url, channel] = process.argv.slice(2);
const book = { bids: new Map(), asks: new Map() };
const counts = { snapshots: 0, deltas: 0, connections: 0 };
let last = null;

function take(message) {
  if (message.channel !== channel || !message.data) return;
  if (message.type === "snapshot") {
    counts.snapshots += 1;
    last = { epoch: message.epoch, sequence: message.sequence };
    book.bids.clear();
    book.asks.clear();
  } else if (message.type === "delta") {
    if (message.first > last.sequence + 1 || message.last <= last.sequence) throw new Error("a gap: " + JSON.stringify(message));
    counts.deltas += 1;
    last = { epoch: message.epoch, sequence: message.last };
  } else {
    return;
  }
  for (const side of ["bids", "asks"]) {
    for (const level of message.data[side] ?? []) {
      if (level.quantity === 0) book[side].delete(level.price);
      else book[side].set(level.price, level);
    }
  }
}

function connect() {
  const socket = new WebSocket(url);
  socket.on("open", () => {
    counts.connections += 1;
    const param = last ? { channel, conflate: true, epoch: last.epoch, after: last.sequence } : `${channel};conflate`;
    socket.send(JSON.stringify({ method: "SUBSCRIBE", params: [param], id: counts.connections }));
  });
  socket.on("message", (text) => take(JSON.parse(text)));
  socket.on("error", () => {});
  socket.on("close", () => setTimeout(connect, 50));
  current = socket;
}

let current;
connect();
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  if (line === "reconnect") return current.terminate();
  const sorted = (side, sign) => [...book[side].values()].sort((a, b) => sign * (a.price - b.price));
  const shown = { bids: sorted("bids", -1), asks: sorted("asks", 1), counts };
  process.stdout.write(JSON.stringify(shown) + "\n");
}).on("close", () => process.exit(0));
