import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import { pathOf } from '../logo/logo.js';
import { viewContact } from '../shared/view.js';
import type { Settings } from './settings.js';

type SettingsView = Extract<DataOf<'getCourierSettings'>, { courier_id: string }>;

export function viewSettings(settings: Settings): SettingsView {
  const { logoHash, logoMediaType, endpoints } = settings;
  const hasLogo = logoHash !== null && logoMediaType !== null;
  return {
    ...viewContact(settings),
    api_key: settings.apiKey,
    api_url_get_customers: settings.apiUrlGetCustomers,
    api_url_add_package: settings.apiUrlAddPackage,
    api_url_update_package: settings.apiUrlUpdatePackage,
    add_package_format: settings.addPackageFormat,
    update_package_format: settings.updatePackageFormat,
    api_token: settings.apiToken,
    webhook_secret: settings.webhookSecret,
    webhook_secret_rotated_at:
      settings.webhookSecretRotatedAt && formatDateTime(settings.webhookSecretRotatedAt),
    webhook_previous_secret_id: settings.webhookPreviousSecretId,
    webhooks: {
      add_package: viewHealth(settings.apiUrlAddPackage, endpoints?.add_package),
      update_package: viewHealth(settings.apiUrlUpdatePackage, endpoints?.update_package),
    },
    house_color: settings.houseColor,
    logo_path: hasLogo ? pathOf(settings.id, logoHash, logoMediaType) : null,
    air_freight_rate: Number(settings.airFreightRate),
  };
}

type Health = SettingsView['webhooks']['add_package'];

const UNTRIED = {
  failing_since: null,
  paused_at: null,
  last_success_at: null,
  last_failure_at: null,
  failures: 0,
};

const viewHealth = (url: string | null, health: Omit<Health, 'state'> = UNTRIED): Health => ({
  state: url === null ? 'none' : health.paused_at ? 'paused' : health.failing_since ? 'failing' : 'active',
  ...health,
});
