export interface Token {
  readonly value: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

export interface TokenClient {
  /** Fetches a new token. Failures are logged and counted here before they are thrown. */
  fetchToken(): Promise<Token>;
}
