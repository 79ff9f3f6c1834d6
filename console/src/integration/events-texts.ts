/** The texts of the choice of events. They load with its dialog. */
export const eventsEn = {
  'events.title': 'Events for {endpoint}',
  'events.lead': 'The address gets the chosen events from now on. What was queued before is still sent.',
  'events.flat': 'A flat format has only events of packages.',
  'events.packages': 'Packages',
  'events.prealerts': 'Pre-alerts',
  'events.bills': 'Bills',
  'events.manifests': 'Flights',
  'events.package.created': 'A package was received',
  'events.package.status_changed': 'A status changed',
  'events.package.updated': 'A package was corrected, or is sent again',
  'events.prealert.received': 'The parcel arrived',
  'events.prealert.flagged': 'The owner is in doubt',
  'events.prealert.claimed': 'The warehouse assigned the parcel',
  'events.prealert.reopened': 'It is pending again',
  'events.prealert.missing': 'It was delivered and not scanned',
  'events.bill.published': 'A bill was published',
  'events.bill.paid': 'A bill is paid',
  'events.bill.reopened': 'A payment of a bill was voided',
  'events.bill.overdue': 'A bill is overdue',
  'events.manifest.departed': 'A flight left',
  'events.manifest.arrived': 'A flight arrived',
} as const;

export type EventsKey = keyof typeof eventsEn;

export const eventsEs: Record<EventsKey, string> = {
  'events.title': 'Eventos para {endpoint}',
  'events.lead':
    'La dirección recibe los eventos elegidos desde ahora. Lo que ya estaba en cola se envía de todos modos.',
  'events.flat': 'Un formato plano solo tiene eventos de paquetes.',
  'events.packages': 'Paquetes',
  'events.prealerts': 'Prealertas',
  'events.bills': 'Facturas',
  'events.manifests': 'Vuelos',
  'events.package.created': 'Se recibió un paquete',
  'events.package.status_changed': 'Cambió un estado',
  'events.package.updated': 'Se corrigió un paquete, o se envía otra vez',
  'events.prealert.received': 'Llegó el paquete',
  'events.prealert.flagged': 'El dueño está en duda',
  'events.prealert.claimed': 'El almacén asignó el paquete',
  'events.prealert.reopened': 'Está pendiente otra vez',
  'events.prealert.missing': 'Fue entregado y no escaneado',
  'events.bill.published': 'Se publicó una factura',
  'events.bill.paid': 'Una factura está pagada',
  'events.bill.reopened': 'Se anuló un pago de una factura',
  'events.bill.overdue': 'Una factura está vencida',
  'events.manifest.departed': 'Salió un vuelo',
  'events.manifest.arrived': 'Llegó un vuelo',
};

export const eventsTexts = { en: eventsEn, es: eventsEs };
