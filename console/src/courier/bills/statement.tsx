import { Statement } from '../../office/pages/couriers/statement-tab.js';
import { session } from '../../session/session.js';
import { t } from '../../texts/texts.js';
import { Heading } from '../../ui/parts.js';
import { linkTo } from '../../ui/router.js';
import { PageTabs } from '../ui/page-tabs.js';

/** What the courier owes, and how old it is. */
export const StatementPage = () => (
  <>
    <Heading title={t('courierPage.statement')} />
    <PageTabs of="bills" />
    <Statement
      courierId={session.value?.user.courier_id ?? ''}
      linkOf={(billId) => linkTo('bills', billId)}
    />
  </>
);
