import { PageTabs } from '../../courier/ui/page-tabs.js';
import { useHashList } from '../../office/list/listed.js';
import { t } from '../../texts/texts.js';
import { Heading } from '../../ui/parts.js';
import { route } from '../../ui/router.js';
import { CallList, loadCalls, loadCallsTexts } from './call-list.js';

/** The page with its texts. */
export async function loadCallsPage() {
  await loadCallsTexts();
  return CallsPage;
}

const load = loadCalls();

/** The calls that the systems of a courier have made. */
function CallsPage() {
  const list = useHashList('calls', load);
  return (
    <>
      <Heading title={t('calls.title')}>
        <button type="button" onClick={list.loaded.reload}>
          {t('today.refresh')}
        </button>
      </Heading>
      <PageTabs of="developers" />
      <CallList page="calls" of={list} shown={route.value.argument} lead={t('calls.lead')} />
    </>
  );
}
