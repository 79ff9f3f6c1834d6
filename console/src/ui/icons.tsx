import type { PageId } from '../pages.js';

/** One path per page, on a grid of 24, drawn as lines. */
const PATHS: Record<PageId, string> = {
  receive: 'M12 3v11m0 0 4-4m-4 4-4-4M4 15v4a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-4',
  load: 'M3 15h11V5H3zm11-6h4l3 3v3h-7zM7 18.5a1.5 1.5 0 1 0 0-.01M17 18.5a1.5 1.5 0 1 0 0-.01',
  find: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zm4.8-1.7L20 20',
  manifests: 'M6 3h9l4 4v14H6zM9 10h6M9 14h6M9 18h4',
  flagged: 'M5 21V4h12l-2 4 2 4H5',
  today: 'M4 20V10m5 10V4m5 16v-8m5 8V7',
  parcels: 'M12 3 4 7v10l8 4 8-4V7zM4 7l8 4 8-4M12 11v10',
  announce: 'M12 5v14M5 12h14',
  webhooks: 'M5 12h5l2-6 3 12 2-6h3',
  tokens: 'M14.5 14a4.5 4.5 0 1 0-4-2.5L4 18v3h3l1-1v-2h2l2-2.5a4.5 4.5 0 0 0 2.5.5M16 8.5v.01',
  bills: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6',
};

export const Icon = ({ name }: { name: PageId }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
