/** The allowed media types of a logo. */
export type MediaType = 'image/png' | 'image/jpeg' | 'image/svg+xml';
