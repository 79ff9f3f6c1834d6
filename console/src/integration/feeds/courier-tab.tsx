import type { TabProps } from '../../office/pages/courier-parts.js';
import { FeedList, loadFeedsTexts } from './feed-list.js';

/** The tab with its texts. */
export async function loadFeedsTab() {
  await loadFeedsTexts();
  return FeedsTab;
}

/** The feeds of a courier, for staff who help its developers. */
const FeedsTab = ({ courier: { courier_id } }: TabProps) => (
  <div class="stack">
    <FeedList courierId={courier_id} />
  </div>
);
