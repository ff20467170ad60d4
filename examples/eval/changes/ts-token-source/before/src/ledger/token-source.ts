import { Token, TokenClient } from "./token-client";

/** The current token of the ledger; `now` returns milliseconds since the epoch. */
export class TokenSource {
  private current: Token | undefined;

  constructor(
    private readonly client: TokenClient,
    private readonly now: () => number,
  ) {}

  async token(): Promise<string> {
    if (this.current === undefined || this.current.expiresAt <= this.now()) {
      this.current = await this.client.fetchToken();
    }
    return this.current.value;
  }
}
