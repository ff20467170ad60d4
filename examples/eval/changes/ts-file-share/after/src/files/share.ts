import { randomBytes } from "node:crypto";
import { CurrentUser, InvalidInputError, NotFoundError } from "./errors";
import { FileRepository, ShareLink, ShareLinkRepository } from "./repositories";

const DEFAULT_DAYS = 7;
const MAX_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the life of a link in days. */
function lifeInDays(requested: number | undefined): number {
  const days = requested ?? DEFAULT_DAYS;
  if (!Number.isInteger(days) || days < 1) {
    throw new InvalidInputError("days must be a whole number from 1 to 30");
  }
  return Math.min(days, MAX_DAYS);
}

export class ShareService {
  constructor(
    private readonly files: FileRepository,
    private readonly links: ShareLinkRepository,
    private readonly now: () => Date,
  ) {}

  /** Creates a public link to a file and returns the link. */
  async share(user: CurrentUser, fileId: string, days?: number): Promise<ShareLink> {
    const life = lifeInDays(days);
    const file = await this.files.find(fileId);
    if (file === undefined) {
      throw new NotFoundError("file not found");
    }
    const link: ShareLink = {
      token: randomBytes(24).toString("base64url"),
      fileId: file.id,
      createdBy: user.id,
      expiresAt: new Date(this.now().getTime() + life * DAY_MS),
    };
    await this.links.insert(link);
    return link;
  }
}
