import type { FunctionComponent } from 'preact';
import { session } from '../../../session/session.js';
import { t } from '../../../texts/texts.js';
import { Empty, Heading } from '../../../ui/parts.js';
import { officeAddress, officeLink } from '../../../ui/router.js';
import { Tabs } from '../../ui/tabs.js';
import { CarriersTab } from './carriers.js';
import { Terms } from '../terms.js';
import { RegionTab } from './region.js';
import { SecurityTab } from './security.js';
import { WarehousesTab } from './warehouses.js';

const BillingTab = () => <Terms />;

const TABS = {
  warehouses: WarehousesTab,
  carriers: CarriersTab,
  billing: BillingTab,
  region: RegionTab,
  security: SecurityTab,
};

type TabId = keyof typeof TABS;

/** The settings of the business. Time zone, currency and security are for administrators only. */
export function SettingsPage() {
  const tab = officeAddress.value?.argument ?? 'warehouses';
  const isAdmin = session.value?.user.role === 'admin';
  const ids: TabId[] = [
    'warehouses',
    'carriers',
    'billing',
    ...(isAdmin ? (['region', 'security'] as const) : []),
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
