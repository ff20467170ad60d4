import { Token, TokenClient } from "./token-client";

const RENEW_BEFORE_MS = 60_000;

/** The current token of the ledger; `now` returns milliseconds since the epoch. */
export class TokenSource {
  private current: Token | undefined;
  private renewal: Promise<Token> | undefined;

  constructor(
    private readonly client: TokenClient,
    private readonly now: () => number,
  ) {}

  async token(): Promise<string> {
    const held = this.current;
    if (held !== undefined && held.expiresAt - this.now() > RENEW_BEFORE_MS) {
      return held.value;
    }
    try {
      const renewed = await this.renew();
      return renewed.value;
    } catch (error) {
      if (held !== undefined && held.expiresAt > this.now()) {
        return held.value;
      }
      throw error;
    }
  }

  private renew(): Promise<Token> {
    this.renewal ??= this.client
      .fetchToken()
      .then((token) => {
        this.current = token;
        return token;
      })
      .finally(() => {
        this.renewal = undefined;
      });
    return this.renewal;
  }
}
