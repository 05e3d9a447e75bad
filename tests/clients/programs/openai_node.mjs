// OpenAI's library for Node: a chat and a response, streamed and at once.
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: process.argv[2], apiKey: 'unused' });
const messages = [{ role: 'user', content: 'Redis or PostgreSQL?' }];

const chat = await client.chat.completions.create({ model: 'moot/classic', messages });
let streamed = '';
for await (const chunk of await client.chat.completions.create({ model: 'moot/classic', messages, stream: true })) {
  streamed += chunk.choices[0]?.delta?.content ?? '';
}
const response = await client.responses.create({ model: 'moot/classic', input: 'Redis or PostgreSQL?' });
const kinds = [];
let deltas = '';
const stream = await client.responses.create({
  model: 'moot/classic',
  input: 'And for a team of two?',
  previous_response_id: response.id,
  stream: true,
});
for await (const event of stream) {
  kinds.push(event.type);
  if (event.type === 'response.output_text.delta') deltas += event.delta;
}
console.log(
  JSON.stringify({
    chat: chat.choices[0].message.content,
    streamed,
    response: response.output_text,
    deltas,
    first: kinds[0],
    last: kinds.at(-1),
  }),
);
