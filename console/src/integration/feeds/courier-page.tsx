import { PageTabs } from '../../courier/ui/page-tabs.js';
import { t } from '../../texts/texts.js';
import { Heading } from '../../ui/parts.js';
import { FeedList, loadFeedsTexts } from './feed-list.js';

/** The page with its texts. */
export async function loadFeedsPage() {
  await loadFeedsTexts();
  return FeedsPage;
}

/** The feeds of the courier. */
const FeedsPage = () => (
  <>
    <Heading title={t('feeds.title')} />
    <PageTabs of="developers" />
    <FeedList />
  </>
);
