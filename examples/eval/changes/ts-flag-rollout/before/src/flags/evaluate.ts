export interface Flag {
  readonly key: string;
  readonly allow: ReadonlySet<string>;
  readonly archived: boolean;
}

/** Returns true if the user has the feature of the flag. */
export function isEnabled(flag: Flag, userId: string): boolean {
  return !flag.archived && flag.allow.has(userId);
}
