import { v7 } from 'uuid';

/** A new UUIDv7: ids made later sort later, which keeps index pages warm. */
export const newId = (): string => v7();
