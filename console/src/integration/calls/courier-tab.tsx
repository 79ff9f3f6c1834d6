import { useMemo } from 'preact/hooks';
import { useTabList } from '../../office/list/listed.js';
import type { TabProps } from '../../office/pages/courier-parts.js';
import { t } from '../../texts/texts.js';
import { CallList, loadCalls, loadCallsTexts } from './call-list.js';

/** The tab with its texts. */
export async function loadCallsTab() {
  await loadCallsTexts();
  return CallsTab;
}

/** The calls of a courier's systems, for staff who help its developers. */
function CallsTab({ courier: { courier_id, courier_code } }: TabProps) {
  const load = useMemo(() => loadCalls(courier_id), [courier_id]);
  const list = useTabList(['couriers', courier_code, 'calls'], load);
  return (
    <div class="stack">
      <div class="actions">
        <button type="button" onClick={list.loaded.reload}>
          {t('today.refresh')}
        </button>
      </div>
      <CallList page="couriers/calls" of={list} shown={list.shown} lead={t('calls.leadStaff')} />
    </div>
  );
}
