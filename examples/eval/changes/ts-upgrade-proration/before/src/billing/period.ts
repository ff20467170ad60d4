/** A calendar date as days since 1970-01-01, without time and zone. */
export type DayNumber = number;

/** A billing period; `end` is exclusive and always after `start`. */
export interface Period {
  readonly start: DayNumber;
  readonly end: DayNumber;
}

export function contains(period: Period, day: DayNumber): boolean {
  return day >= period.start && day < period.end;
}

export interface Plan {
  readonly id: string;
  readonly monthlyCents: number;
}
