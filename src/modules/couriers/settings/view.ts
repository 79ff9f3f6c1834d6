import type { DataOf } from '../../../platform/contract/types.js';
import { formatDateTime } from '../../../platform/values/time.js';
import type { Settings } from './courier.js';
import { pathOf } from '../logo/logo.js';

type SettingsView = Extract<DataOf<'getCourierSettings'>, { courier_id: string }>;

export function viewSettings({ logo_hash, logo_media_type, ...rest }: Settings): SettingsView {
  const hasLogo = logo_hash !== null && logo_media_type !== null;
  return {
    courier_id: rest.courier_id,
    courier_code: rest.courier_code,
    courier_name: rest.courier_name,
    company_name: rest.company_name,
    email: rest.email,
    phone_number1: rest.phone_number1,
    phone_number2: rest.phone_number2,
    address1: rest.address1,
    address2: rest.address2,
    city_town: rest.city_town,
    parish_province: rest.parish_province,
    api_key: rest.api_key,
    api_url_get_customers: rest.api_url_get_customers,
    api_url_add_package: rest.api_url_add_package,
    api_url_update_package: rest.api_url_update_package,
    api_token: rest.api_token,
    webhook_secret: rest.webhook_secret,
    webhook_secret_rotated_at:
      rest.webhook_secret_rotated_at && formatDateTime(rest.webhook_secret_rotated_at),
    webhooks: {
      add_package: viewHealth(rest.api_url_add_package, rest.endpoints?.add_package),
      update_package: viewHealth(rest.api_url_update_package, rest.endpoints?.update_package),
    },
    house_color: rest.house_color,
    logo_path: hasLogo ? pathOf(rest.courier_id, logo_hash, logo_media_type) : null,
    air_freight_rate: Number(rest.air_freight_rate),
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
