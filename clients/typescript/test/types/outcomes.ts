// What the compiler knows of outcomes. Only its types are checked, by test/types.test.js.

import type { Scarce } from "scarce-client";

export async function narrowed(scarce: Scarce): Promise<string> {
  const taken = await scarce.stock.take({ sku: "s", quantity: 1, owner: "a" });
  switch (taken.status) {
    case "applied":
      return String(taken.value.first_serial satisfies number);
    case "refused":
      if (taken.code === "SOLD_OUT") return String(taken.facts.available satisfies number);
      // @ts-expect-error a stock item has no funds
      if (taken.code === "INSUFFICIENT_FUNDS") return "";
      return taken.advice;
    case "undecided": {
      const settled = await taken.resolve();
      return settled.status === "absent" ? settled.operation : settled.status;
    }
  }
}

export async function read(scarce: Scarce): Promise<void> {
  const shown = await scarce.stock.get({ sku: "s" });
  shown.status satisfies "applied" | "refused";
  const [first] = await scarce.batch([{ command: "ACCOUNT.DEBIT", arguments: { account: "a", amount: 1 } }]);
  if (first.status === "applied") first.value.available satisfies number;
  for await (const update of scarce.live(["stock.s", "market.m.depth"])) {
    if (update.channel === "stock.s") update.data?.available satisfies number | undefined;
    else update.data?.bids satisfies readonly { price: number }[] | undefined;
  }
}

export async function mistakes(scarce: Scarce): Promise<void> {
  // @ts-expect-error the owner is missing
  await scarce.stock.take({ sku: "s", quantity: 1 });
  // @ts-expect-error reads cannot be part of an atomic batch
  await scarce.atomic([{ command: "STOCK.GET", arguments: { sku: "s" } }]);
}
