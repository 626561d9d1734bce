/** Values that the samples of the catalogue share. */

export const ids = {
  request: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a01',
  transfer: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a02',
  engagement: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a03',
  subEngagement: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a04',
  nextSubEngagement: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a05',
  site: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a06',
  visitor: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a07',
  operator: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a08',
  nextOperator: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a09',
  message: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a10',
  upgrade: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a11',
  authentication: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a12',
  sipDomain: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a13',
  file: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a14',
  webhook: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a15',
  ticket: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a16',
  queue: '5b0c3d1e-7f5a-4a54-9d0e-2f6f6c1b7a17',
} as const;

export const timestamp = '2027-01-31T09:00:00.000Z';

export const request = { id: ids.request, site_id: ids.site, visitor_id: ids.visitor, operator_id: ids.operator };
export const subEngagement = { id: ids.subEngagement, operator_id: ids.operator, site_id: ids.site };
export const engagement = {
  id: ids.engagement,
  engagement_request_id: ids.request,
  visitor_id: ids.visitor,
  current_sub_engagement: subEngagement,
};
export const messageFields = {
  timestamp,
  id: ids.message,
  engagement_id: ids.engagement,
  sub_engagement_id: ids.subEngagement,
};
export const chatMessage = {
  ...messageFields,
  content: 'Hello, where is my parcel?',
  sender: { type: 'visitor' },
  target: 'operator',
  type: 'chat',
  attachment: null,
} as const;
export const typing = {
  engagement_id: ids.engagement,
  sub_engagement_id: ids.subEngagement,
  typing: true,
  clock: 1,
};
export const webhook = {
  id: ids.webhook,
  origin: 'https://receiver.example.com',
  description: 'Orders',
  site_ids: [ids.site],
  registered_by: ids.operator,
};
