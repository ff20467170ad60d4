import { Invitation, InvitationRepository } from "./invitation-repository";
import { ForbiddenError, MembershipRepository } from "./memberships";

const OPEN_DAYS = 14;
const DAY_MS = 24 * 60 * 60 * 1000;

export class InviteService {
  constructor(
    private readonly memberships: MembershipRepository,
    private readonly invitations: InvitationRepository,
    private readonly now: () => Date,
  ) {}

  /** Invites an address to the project on behalf of `userId`. */
  async invite(projectId: string, userId: string, email: string): Promise<Invitation> {
    await this.requireOwner(projectId, userId);
    const now = this.now();
    return this.invitations.insertOrGetOpen(
      {
        projectId,
        email: email.trim().toLowerCase(),
        invitedBy: userId,
        expiresAt: new Date(now.getTime() + OPEN_DAYS * DAY_MS),
      },
      now,
    );
  }

  private async requireOwner(projectId: string, userId: string): Promise<void> {
    const membership = await this.memberships.latest(projectId, userId);
    if (membership === undefined || membership.role !== "owner") {
      throw new ForbiddenError("only owners may invite");
    }
  }
}
