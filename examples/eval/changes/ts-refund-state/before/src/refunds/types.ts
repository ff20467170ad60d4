export type RefundState = "requested" | "approved" | "sent" | "settled" | "declined" | "returned";

export type RefundEvent = "approve" | "decline" | "send" | "settle" | "return";

/** `returns` counts how often the bank has sent the money back. */
export interface Refund {
  readonly id: string;
  readonly state: RefundState;
  readonly returns: number;
}
