"""Runs Solace Agent Mesh on an MQTT broker: `run.py mesh.yaml`."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import absent  # noqa: F401 (it must come before SAM)
from solace_ai_connector.common.messaging import messaging_builder

from mqtt_broker import MqttBroker

messaging_builder.DevBroker = MqttBroker

from solace_agent_mesh.common.utils.initializer import initialize
from solace_ai_connector.main import main

initialize()
sys.exit(main())
