import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Scrolls the present link of a bar into its middle. On a narrow screen, the links of a bar do not all fit. */
export function usePresentInSight(present: string | undefined): RefObject<HTMLElement | null> {
  const bar = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const link = bar.current?.querySelector<HTMLElement>('[aria-current]');
    if (!bar.current || !link) return;
    const start = link.getBoundingClientRect().left - bar.current.getBoundingClientRect().left;
    bar.current.scrollLeft += start - (bar.current.clientWidth - link.offsetWidth) / 2;
  }, [present]);
  return bar;
}
