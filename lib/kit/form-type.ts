/** The content types of a form: the short one that some services send, and the usual one. */
export const FORM_CONTENT_TYPES = [
  "application/x-www-urlencoded",
  "application/x-www-form-urlencoded",
] as const;

const FORM_TYPE = new RegExp(`^\\s*(?:${FORM_CONTENT_TYPES.join("|")})\\s*(?:;|$)`, "i");

/** Returns whether a Content-Type names a form, with any parameters. */
export function isFormType(contentType: string): boolean {
  return FORM_TYPE.test(contentType);
}
