export type Role = "owner" | "member";

export interface Membership {
  readonly projectId: string;
  readonly userId: string;
  readonly role: Role;
  /** Set when the person has left or was removed. Rows are kept for the history. */
  readonly endedAt: Date | null;
}

export interface MembershipRepository {
  /**
   * Returns the latest membership of the user in the project, ended ones included,
   * or undefined if there never was one.
   */
  latest(projectId: string, userId: string): Promise<Membership | undefined>;
}

export class ForbiddenError extends Error {}
