import { signal } from '@preact/signals';
import { goTo } from '../ui/router.js';

/** What a scan or a person asked Find for. Kept here, because a scan on another page opens it. */
export const findQuery = signal('');

export function scanToFind(text: string): void {
  findQuery.value = text;
  goTo('find');
}
