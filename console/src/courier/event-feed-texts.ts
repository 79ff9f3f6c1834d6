/** The texts of the events of a courier. They load with the page. */
const eventFeedEn = {
  'eventFeed.lead':
    'What your systems read, newest first: the same that webhooks contain, and what no address has chosen too. Events are kept for 90 days.',
  'eventFeed.docs': 'How a program reads them',
  'eventFeed.number': 'No.',
  'eventFeed.what': 'Event',
  'eventFeed.of': 'Of',
  'eventFeed.content': 'Content of the event',
  'eventFeed.none': 'No event yet',
  'eventFeed.noneHint': 'An event appears when a parcel is received or changes.',
  'eventFeed.older': 'Older',
  'eventFeed.newer': 'Newer',
} as const;

export type EventFeedKey = keyof typeof eventFeedEn;

const eventFeedEs: Record<EventFeedKey, string> = {
  'eventFeed.lead':
    'Lo que leen sus sistemas, lo más nuevo primero: lo mismo que contienen los webhooks, y también lo que ninguna dirección eligió. Los eventos se guardan 90 días.',
  'eventFeed.docs': 'Cómo los lee un programa',
  'eventFeed.number': 'N.º',
  'eventFeed.what': 'Evento',
  'eventFeed.of': 'De',
  'eventFeed.content': 'Contenido del evento',
  'eventFeed.none': 'Todavía no hay eventos',
  'eventFeed.noneHint': 'Un evento aparece cuando se recibe un paquete o cambia.',
  'eventFeed.older': 'Anteriores',
  'eventFeed.newer': 'Más nuevos',
};

export const eventFeedTexts = { en: eventFeedEn, es: eventFeedEs };
