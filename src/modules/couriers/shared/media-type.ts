/** What a logo may be. */
export type MediaType = 'image/png' | 'image/jpeg' | 'image/svg+xml';
