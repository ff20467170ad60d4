import { Refund, RefundEvent } from "./types";

export class InvalidTransition extends Error {
  constructor(refund: Refund, event: RefundEvent) {
    super(`refund ${refund.id}: ${event} is not possible in state ${refund.state}`);
  }
}

function afterReturn(refund: Refund): Refund {
  const returns = refund.returns + 1;
  return { ...refund, returns, state: returns > 1 ? "declined" : "returned" };
}

/** Returns the refund after the event; throws InvalidTransition if the event does not fit. */
export function transition(refund: Refund, event: RefundEvent): Refund {
  switch (event) {
    case "approve":
      if (refund.state === "requested" || refund.state === "returned") {
        return { ...refund, state: "approved" };
      }
      break;
    case "decline":
      if (refund.state === "requested") {
        return { ...refund, state: "declined" };
      }
      break;
    case "send":
      if (refund.state === "approved") {
        return { ...refund, state: "sent" };
      }
      break;
    case "settle":
      if (refund.state === "settled") {
        return refund;
      }
      if (refund.state === "sent") {
        return { ...refund, state: "settled" };
      }
      break;
    case "return":
      if (refund.state === "sent") {
        return afterReturn(refund);
      }
      break;
  }
  throw new InvalidTransition(refund, event);
}
