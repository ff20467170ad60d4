import { createHash } from "node:crypto";

/** Returns the bucket of a user for a flag, 0 to 99. */
export function bucketOf(flagKey: string, userId: string): number {
  const digest = createHash("sha256").update(`${flagKey}:${userId}`).digest();
  return digest.readUInt32BE(0) % 100;
}
