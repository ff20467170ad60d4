import { bucketOf } from "./bucket";

export interface Flag {
  readonly key: string;
  /** Whole number from 0 to 100. */
  readonly percent: number;
  readonly allow: ReadonlySet<string>;
  readonly deny: ReadonlySet<string>;
  readonly archived: boolean;
}

function isInRollout(flag: Flag, userId: string): boolean {
  return bucketOf(flag.key, userId) <= flag.percent;
}

/** Returns true if the user has the feature of the flag. */
export function isEnabled(flag: Flag, userId: string): boolean {
  if (flag.archived || flag.deny.has(userId)) {
    return false;
  }
  return flag.allow.has(userId) || isInRollout(flag, userId);
}

/** Returns the keys of the features that the user has, in the order of the flags. */
export function enabledKeys(flags: readonly Flag[], userId: string): string[] {
  return flags.filter((flag) => isEnabled(flag, userId)).map((flag) => flag.key);
}
