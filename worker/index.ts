// The Worker: the routes over the platforms of this relay, and the object of a mailbox.

import { createApp } from './app.ts';
import { platformKinds } from './platforms.ts';

export { Mailbox } from './mailbox/object.ts';

export default createApp(platformKinds);
