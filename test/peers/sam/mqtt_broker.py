"""A broker of Solace Agent Mesh on MQTT 5. It takes the place of SAM's dev broker, which only connects the parts of one process."""

import json
import logging
import os
import queue
import threading

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from solace_ai_connector.common.messaging import dev_broker_messaging as dev

log = logging.getLogger(__name__)

READY_SECONDS_MAX = 30


def mqtt_filter(subscription):
    """Solace's `*` and `>` are MQTT's `+` and `#`."""
    levels = subscription.split("/")
    return "/".join("#" if level == ">" else "+" if level == "*" else level for level in levels)


def to_text(value):
    """MQTT properties are text. Objects become JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def from_text(value):
    """Solace keeps objects as objects. Other text stays text."""
    try:
        return json.loads(value) if value[:1] in ("{", "[") else value
    except ValueError:
        return value


class MqttBroker(dev.DevBroker):
    """One connection. Its queue receives what its subscriptions match, each message once."""

    def __init__(self, broker_properties, flow_lock_manager, flow_kv_store):
        super().__init__(broker_properties, flow_lock_manager, flow_kv_store)
        self.received = queue.Queue()
        self.filters = {}
        self.granted = {}
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        self.client.max_inflight_messages_set(1000)
        self.client.on_message = self._on_message
        self.client.on_subscribe = self._on_subscribe

    def connect(self):
        host, port = os.environ["PEER_BROKER"].rsplit(":", 1)
        self.client.connect(host, int(port), keepalive=60)
        self.client.loop_start()
        self.connected = True
        for subscription in self.broker_properties.get("subscriptions") or []:
            self.subscribe(subscription["topic"], self.broker_properties.get("queue_name"))

    def disconnect(self):
        self.connected = False
        self.client.disconnect()
        self.client.loop_stop()

    def receive_message(self, timeout_ms, queue_name):
        try:
            return self.received.get(timeout=timeout_ms / 1000)
        except queue.Empty:
            return None

    def send_message(self, destination_name, payload, user_properties=None, user_context=None):
        properties = Properties(PacketTypes.PUBLISH)
        properties.UserProperty = [(name, to_text(value)) for name, value in (user_properties or {}).items() if value is not None]
        body = payload.encode() if isinstance(payload, str) else bytes(payload)
        self.client.publish(destination_name, body, qos=1, properties=properties)
        if user_context and "callback" in user_context:
            user_context["callback"](user_context)

    def subscribe(self, subscription, queue_name=None):
        topic = mqtt_filter(subscription)
        done = threading.Event()
        _, mid = self.client.subscribe(topic, qos=1)
        self.granted[mid] = done
        if not done.wait(READY_SECONDS_MAX):
            raise RuntimeError(f"the broker did not grant {topic}")
        self.filters[subscription] = topic

    def add_topic_to_queue(self, topic_str, queue_name):
        self.subscribe(topic_str)
        return True

    def remove_topic_from_queue(self, topic_str, queue_name):
        self.client.unsubscribe(self.filters.pop(topic_str, mqtt_filter(topic_str)))
        return True

    def _on_subscribe(self, client, userdata, mid, reason_codes, properties):
        for _ in range(100):
            if mid in self.granted:
                self.granted[mid].set()
                return
            threading.Event().wait(0.01)

    def _on_message(self, client, userdata, message):
        pairs = getattr(message.properties, "UserProperty", [])
        self.received.put(
            {
                "payload": message.payload,
                "topic": message.topic,
                "user_properties": {name: from_text(value) for name, value in pairs},
            }
        )
