export interface Rate {
  readonly currency: string;
  /** Units of the currency for one euro. */
  readonly perEuro: number;
}

export interface Bank {
  /** Fetches the current rate; rejects if the bank is not reachable or answers an error. */
  fetchRate(currency: string): Promise<Rate>;
}
