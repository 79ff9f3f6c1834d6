/** The failures of the operations that only the office calls, in Spanish. A test finds missing ones. */
export const officeFailuresEs: Record<string, string> = {
  customer_not_found: 'Este cliente ya no existe. Recargue la página.',
  default_rates_missing: 'No hay tarifas generales. Créelas primero en Tarifas.',
  duplicate_courier_code: 'Otro courier tiene este código. Elija otro.',
  duplicate_user_code: 'Otro cliente del courier tiene este código. Elija otro.',
  duplicate_username: 'Otra persona tiene este usuario. Elija otro.',
  last_admin: 'Es el último administrador activo. Nombre primero a otro.',
  own_account: 'No puede hacer esto con su propia cuenta.',
  package_invalid_transition:
    'Uno de los paquetes ya no admite este cambio, y no se cambió ninguno. Recargue la página.',
  parcel_claim_decided: 'Otra persona ya decidió sobre este reclamo. Recargue la página.',
  parcel_claim_not_found: 'Este reclamo ya no existe. Recargue la página.',
  rate_not_found: 'Este tramo ya no existe. Recargue la página.',
  rename_unfinished: 'El cambio de código anterior aún no termina. Espere un momento e inténtelo de nuevo.',
  sync_url_missing: 'El courier no tiene una dirección de clientes. Configúrela en Webhooks.',
  too_many_package_events: 'El paquete tiene demasiados eventos. Solo se puede entregar o devolver.',
  webhook_secret_changed: 'Otra persona cambió el secreto entretanto. Recargue la página.',
};
