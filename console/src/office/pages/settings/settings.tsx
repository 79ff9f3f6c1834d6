import type { FunctionComponent } from 'preact';
import { session } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { part } from '../../../ui/part.js';
import { Empty, Heading } from '../../../ui/parts.js';
import { officeAddress, officeLink } from '../../../ui/router.js';
import { Tabs } from '../../ui/tabs.js';
import { CarriersTab } from './carriers.js';
import { Terms } from '../terms.js';
import { RegionTab } from './region.js';
import { SecurityTab } from './security.js';
import { StationsTab } from './stations.js';
import { WarehousesTab } from './warehouses.js';

/** It loads with its first use. */
const TokensTab = part(
  async () => (await import('../../../integration/tokens/office-tabs.js')).StaffTokensTab,
  { isOnUse: true },
);

const BillingTab = () => <Terms />;

const TABS = {
  warehouses: WarehousesTab,
  carriers: CarriersTab,
  stations: StationsTab,
  billing: BillingTab,
  region: RegionTab,
  security: SecurityTab,
  tokens: TokensTab,
};

type TabId = keyof typeof TABS;

/** The settings of the business. Time zone, currency, security and service tokens are for administrators only. */
export function SettingsPage() {
  const tab = officeAddress.value?.argument ?? 'warehouses';
  const isAdmin = session.value?.user.role === 'admin';
  const ids: TabId[] = [
    'warehouses',
    'carriers',
    'stations',
    'billing',
    ...(isAdmin ? (['region', 'security', 'tokens'] as const) : []),
  ];
  const id = ids.find((each) => each === tab);
  const View: FunctionComponent | undefined = id && TABS[id];
  return (
    <>
      <Heading title={t('settings.title')} />
      <Tabs base={['settings']} tabs={ids.map((each) => [each, t(`settingsTab.${each}`)])} current={tab} />
      {View ? (
        <View key={id} />
      ) : (
        <Empty title={t('page.unknown')}>
          <a href={officeLink('settings')}>{t('settings.title')}</a>
        </Empty>
      )}
    </>
  );
}
