/** How the uuid of an event begins that `trigger` invented. */
export const INVENTED_PREFIX = "trigger-";
