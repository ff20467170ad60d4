export class NotFoundError extends Error {}
export class InvalidInputError extends Error {}

export interface CurrentUser {
  readonly id: string;
  readonly teamId: string;
}
