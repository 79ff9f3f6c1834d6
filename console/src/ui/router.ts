import { computed, signal } from '@preact/signals';

/** `#/manifests/<id>` is the page `manifests` with the argument `<id>`. Paths contain no secrets and no scans. */
const hash = signal(location.hash);

window.addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const route = computed(() => {
  const [, page = '', argument] = hash.value.split('/');
  return { page, argument };
});

export const linkTo = (page: string, argument?: string) => `#/${page}${argument ? `/${argument}` : ''}`;

export function goTo(page: string, argument?: string): void {
  location.hash = linkTo(page, argument);
}

/** Whether an argument of an address can be the id of a record. */
export const isId = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
