export interface StoredFile {
  readonly id: string;
  readonly teamId: string;
  readonly name: string;
}

export interface FileRepository {
  /** Finds a file by id in all teams; access control is the business of the caller. */
  find(id: string): Promise<StoredFile | undefined>;
}

export interface ShareLink {
  readonly token: string;
  readonly fileId: string;
  readonly createdBy: string;
  readonly expiresAt: Date;
}

export interface ShareLinkRepository {
  insert(link: ShareLink): Promise<void>;
}
