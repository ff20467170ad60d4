import { contains, DayNumber, Period, Plan } from "./period";

const DAYS_PER_PERIOD = 30;

export class UpgradeRefused extends Error {}

export interface UpgradeCharge {
  readonly planId: string;
  readonly days: number;
  readonly cents: number;
}

/** Returns the number of days of the period from `day` on. */
function remainingDays(period: Period, day: DayNumber): number {
  return period.end - day;
}

/** Computes the charge for changing from one plan to a more expensive one on `day`. */
export function upgradeCharge(from: Plan, to: Plan, period: Period, day: DayNumber): UpgradeCharge {
  if (!contains(period, day)) {
    throw new UpgradeRefused("the day is outside of the billing period");
  }
  const difference = to.monthlyCents - from.monthlyCents;
  if (difference <= 0) {
    throw new UpgradeRefused(`${to.id} is not more expensive than ${from.id}`);
  }
  const days = remainingDays(period, day);
  const cents = Math.round((difference * days) / DAYS_PER_PERIOD);
  return { planId: to.id, days, cents };
}
