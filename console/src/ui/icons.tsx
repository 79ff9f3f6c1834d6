import type { PageId } from '../pages.js';

/** One path per page of the menu, on a grid of 24, drawn as lines. */
const PATHS: Partial<Record<PageId, string>> = {
  receive: 'M12 3v11m0 0 4-4m-4 4-4-4M4 15v4a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-4',
  putaway: 'M12 21s7-6.2 7-11a7 7 0 1 0-14 0c0 4.8 7 11 7 11zm0-8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  load: 'M3 15h11V5H3zm11-6h4l3 3v3h-7zM7 18.5a1.5 1.5 0 1 0 0-.01M17 18.5a1.5 1.5 0 1 0 0-.01',
  find: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13zm4.8-1.7L20 20',
  manifests: 'M6 3h9l4 4v14H6zM9 10h6M9 14h6M9 18h4',
  flagged: 'M5 21V4h12l-2 4 2 4H5',
  today: 'M4 20V10m5 10V4m5 16v-8m5 8V7',
  home: 'm4 11 8-7 8 7v9h-5v-6H9v6H4z',
  parcels: 'M12 3 4 7v10l8 4 8-4V7zM4 7l8 4 8-4M12 11v10',
  announce: 'M12 5v14M5 12h14',
  unknown: 'M9.5 9a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7m0 3v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18',
  customers:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7m-6 9c0-3.3 2.7-6 6-6s6 2.7 6 6M16 11a3 3 0 1 0 0-6m2 15h3c0-2.6-1.4-4.5-3.5-5.4',
  developers: 'm8 8-4 4 4 4m8-8 4 4-4 4M13.5 5l-3 14',
  profile: 'M4 20V9l8-5 8 5v11zM9 20v-6h6v6',
  team: 'M12 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7m-7 9c0-3.9 3.1-6.5 7-6.5s7 2.6 7 6.5',
  bills: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6',
};

export const Icon = ({ name }: { name: PageId }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
