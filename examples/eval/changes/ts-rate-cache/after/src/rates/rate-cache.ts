import { Bank, Rate } from "./bank";

const VALID_MS = 10 * 60 * 1000;

interface Entry {
  readonly rate: Rate;
  readonly fetchedAt: number;
}

/** Rates by currency; `now` returns milliseconds. */
export class RateCache {
  private readonly entries = new Map<string, Entry>();
  private readonly running = new Map<string, Promise<Rate>>();

  constructor(
    private readonly bank: Bank,
    private readonly now: () => number,
  ) {}

  async rate(currency: string): Promise<Rate> {
    const entry = this.entries.get(currency);
    if (entry !== undefined && this.now() - entry.fetchedAt < VALID_MS) {
      return entry.rate;
    }
    return this.running.get(currency) ?? this.fetch(currency);
  }

  private fetch(currency: string): Promise<Rate> {
    const request = this.bank.fetchRate(currency).then((rate) => {
      this.entries.set(currency, { rate, fetchedAt: this.now() });
      this.running.delete(currency);
      return rate;
    });
    this.running.set(currency, request);
    return request;
  }
}
