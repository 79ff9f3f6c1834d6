import type { OfficePageId } from './pages.js';

/** One path per page, on a grid of 24, drawn as lines. */
const PATHS: Record<OfficePageId, string> = {
  home: 'M3 11l9-8 9 8M6 9v11h12V9M10 20v-6h4v6',
  parcels: 'M12 2l9 5v10l-9 5-9-5V7zm0 10l9-5m-9 5v10m0-10L3 7',
  places: 'M12 21s7-6.2 7-11a7 7 0 1 0-14 0c0 4.8 7 11 7 11zm0-8.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  manifests: 'M2 14l20-7-6 13-4-5zM12 15l10-8',
  unknown: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7m0 3v.01',
  customers: 'M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-7 10a7 7 0 0 1 14 0M17 4a4 4 0 0 1 0 7M18 14a7 7 0 0 1 4 7',
  couriers: 'M3 15h11V5H3zm11-6h4l3 3v3h-7zM7 18.5a1.5 1.5 0 1 0 0-.01M17 18.5a1.5 1.5 0 1 0 0-.01',
  announcements: 'M4 10v4h3l8 4V6l-8 4zM18 9.5a4 4 0 0 1 0 5M8 15v4h3',
  bills: 'M6 3h12v18l-3-2-3 2-3-2-3 2zM9 8h6M9 12h6',
  rates: 'M4 20h16M6 16l4-5 4 3 4-8M4 4v16',
  webhooks: 'M9 8a4 4 0 1 1 5 3.9L17 17M7 17a4 4 0 1 0 4 4M11 11l-4 6m4 3h6a3 3 0 1 0-1-5',
  reports: 'M4 20h16M7 16v-5m5 5V5m5 11V9',
  team: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zm-8 9a8 8 0 0 1 16 0',
  settings:
    'M4 7h9m4 0h3M4 17h3m4 0h9M15 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM9 19.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z',
  me: 'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM12 2v4m0 12v4M2 12h4m12 0h4M5 5l3 3m8 8 3 3M19 5l-3 3m-8 8-3 3',
  audit: 'M6 3h9l4 4v14H6zM9 12l2 2 4-4',
};

export const OfficeIcon = ({ name }: { name: OfficePageId }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);
