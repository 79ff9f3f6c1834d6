import type { OperationId } from '../../../generated/operations.js';
import { DEMO } from '../../../fixtures/demo/seed.js';
import type { Api } from '../../support/fixture/api.js';
import { newNumber } from '../../support/builders/parcels.js';
import type { Call, Reply, Service } from '../../support/service/service.js';

/** What browsers send. */
export const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

/** A courier's pages, as consignees see them, and what couriers do to them. */
export function makeTracking(api: Api, service: () => Service) {
  const { IEX } = DEMO.couriers;
  const open = async (
    operation: OperationId,
    call: Call,
  ): Promise<{ status: number; html: string; reply: Reply }> => {
    const reply = await service().call(operation, { ...call, headers: { ...BROWSER, ...call.headers } });
    return { status: reply.status, html: reply.bytes.toString(), reply };
  };
  return {
    open,
    /** Switches the pages of a courier on. */
    enable: (fields: object = {}, courierId: string = IEX) =>
      service().call('updateTrackingSettings', {
        as: 'admin',
        body: { courier_id: courierId, is_enabled: true, ...fields },
      }),
    /** Receives a parcel of a customer. */
    async receive(userCode = 'IEX-1001', fields: object = {}): Promise<{ id: string; number: string }> {
      const number = newNumber();
      const { data } = await api
        .as('warehouse')
        .receivePackage({ tracking_number: number, weight: 2, user_code: userCode, ...fields })
        .created();
      return { id: data.package_id, number };
    },
    /** Returns the key of the link of a package. */
    async keyOf(packageId: string, as = 'iex'): Promise<string> {
      const { data } = await api.as(as).manageTrackingLinks({ action: 'create', package_id: packageId }).ok();
      return (data.link?.path ?? '').replace('/track/', '');
    },
    page: (key: string, call: Call = {}) => open('getTrackingPage', { path: { key }, ...call }),
    search: (number: string, lastName: string, call: Call = {}) =>
      open('submitTrackingSearch', {
        query: { courier: 'IEX' },
        urlencoded: { tracking_number: number, last_name: lastName },
        ...call,
      }),
  };
}
