export interface Invitation {
  readonly id: string;
  readonly projectId: string;
  readonly email: string;
  readonly invitedBy: string;
  readonly expiresAt: Date;
}

export interface InvitationRepository {
  /**
   * Stores the invitation, or returns the one of the same project and address that
   * has not expired at `now`. Atomic.
   */
  insertOrGetOpen(invitation: Omit<Invitation, "id">, now: Date): Promise<Invitation>;
}
